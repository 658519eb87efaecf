package billing

import (
	"context"
	"fmt"

	userv1 "example.com/acme/user/v1"
)

type invoice struct {
	user  *userv1.User // uses: User
	name  string
	total int
}

func (i *invoice) Name() string { return i.name }

func load(ctx context.Context, client userv1.UsersClient, name string) (*userv1.User, error) { // uses: Users, User
	request := &userv1.GetUserRequest{Name: name} // uses: GetUserRequest, GetUserRequest.name
	user, err := client.GetUser(ctx, request)     // uses: Users.GetUser
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request.Name, err) // uses: GetUserRequest.name
	}
	fmt.Println(user.GetBoss().GetMail()) // uses: User.boss, User.mail
	return user, nil
}

func build() *userv1.User { // uses: User
	return &userv1.User{ // uses: User
		Name: "a", // uses: User.name
		Kind: userv1.Kind_KIND_ADMIN, // uses: User.kind, KIND_ADMIN
		Addresses: []*userv1.Address{ // uses: User.addresses, Address
			{Street: "b", Name: "c"}, // uses: Address.street, Address.name
		},
		Contact: &userv1.User_Phone{Phone: "d"}, // uses: User.contact, User.phone
		Details: &userv1.User_Details{Text: "e"}, // uses: User.details, User.Details, User.Details.text
	}
}

func walk(i *invoice, users map[string]*userv1.User) { // uses: User
	for _, address := range i.user.GetAddresses() { // uses: User.addresses
		fmt.Println(address.Street, address.GetName()) // uses: Address.street, Address.name
	}
	for key, user := range users {
		fmt.Println(key, user.Mail) // uses: User.mail
	}
	other := build()
	other.Nick = nil // uses: User.nick
	switch contact := other.GetContact().(type) { // uses: User.contact
	case *userv1.User_Postal: // uses: User.postal
		fmt.Println(contact.Postal.Street) // uses: User.postal, Address.street
	}
	// i.user.GetKind() is a comment, and "user.GetKind()" a text.
	fmt.Println("user.GetKind()", i.name, i.Name())
	places := other.Places // uses: User.places
	fmt.Println(places["x"].Street) // uses: Address.street
	client := userv1.NewUsersClient(nil) // uses: Users
	_, _ = client.GetUser(nil, nil) // uses: Users.GetUser
}
